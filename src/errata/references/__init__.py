"""Reference sets as objects of study."""
