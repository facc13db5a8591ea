"""What several tests share: problems, plain computations to compare with, made tables."""
