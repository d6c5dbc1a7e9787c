"""Let a trained model write: `python -m lecture.generate runs/lecture --prompt "One day"`."""
