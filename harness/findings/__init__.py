"""Who is treated worse, by how much and how sure, and whether it is about people at all."""
