"""What a report says: sections told from whatever was given, with the numbers of the commands."""
