"""Where a file lies: on a disk of this machine, or on one that other machines use too."""

from pathlib import Path

_MOUNTS = Path("/proc/self/mounts")
_NETWORK = frozenset({"9p", "afs", "ceph", "cifs", "glusterfs", "lustre", "ncpfs", "nfs", "nfs4", "smb3", "smbfs"})
_NETWORK_BY_FUSE = frozenset({"fuse.glusterfs", "fuse.rclone", "fuse.s3fs", "fuse.sshfs", "fuse.davfs2"})


def network_file_system(path: str) -> str | None:
    """Return the type of the network file system that holds the path; None for others, and where nobody can tell."""
    try:
        lines = _MOUNTS.read_text(errors="replace").splitlines()
    except OSError:
        return None
    folders = {str(folder) for folder in Path(path).resolve().parents}
    mounts = [(_plain(point), kind) for _, point, kind, *_ in (line.split(" ") for line in lines)]
    held_by = [(len(point), position, kind) for position, (point, kind) in enumerate(mounts) if point in folders]
    kind = max(held_by)[2] if held_by else ""
    return kind if kind in _NETWORK | _NETWORK_BY_FUSE else None


def _plain(point: str) -> str:
    """Return a mount point without the escapes that the list has for white space."""
    for escaped, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        point = point.replace(escaped, character)
    return point
