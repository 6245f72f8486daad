"""What the page in the browser asks of dipc: questions and answers as JSON, and mistakes in a text as it is typed."""
