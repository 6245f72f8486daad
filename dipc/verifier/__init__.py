"""Check certificates independently, with the standard library alone and none of the code that wrote them."""
