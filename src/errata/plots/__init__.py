"""Plot shapes, as SVG and with matplotlib."""
