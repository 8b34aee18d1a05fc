"""The computer: devices, RAM, processes, signals, and files that must survive."""
