"""What a model, a GPU and a deployment say each category of a round must cost."""
