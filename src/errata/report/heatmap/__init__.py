"""The difficulty heat map: as a page, as a picture, in the terminal."""
