"""A language model as the judge of corrections (Kobayashi, Mita & Komachi 2024)."""
