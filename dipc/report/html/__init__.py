"""Reports as pages to send: one file, no request to anywhere, readable without JavaScript."""
