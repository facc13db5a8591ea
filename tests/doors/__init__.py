"""What tests know of the package's files, a module for each room: see CONTRIBUTING.md."""
