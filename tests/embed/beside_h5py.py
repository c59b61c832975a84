"""beside_h5py.py LIBRARY first|last: h5py and libplugmc in one process, whichever comes first, each with files of its own."""
import ctypes
import os
import sys
import tempfile

library, order = sys.argv[1:]
try:
    if order == 'first':
        import h5py
    engine_library = ctypes.CDLL(library)
    if order == 'last':
        import h5py
    import numpy
except ImportError as reason:
    print(f'skipped: {reason}')
    sys.exit(77)

TEXT = b'''[run]
sweeps = 40
seed = 7
device = cpu
threads = 1
output = run.h5
[box]
dimension = 2
density = 0.5
[species a]
count = 100
[potential lennard_jones]
epsilon = 1
sigma = 1
cutoff = 2.5
[mover serial]
step = 0.2
[observable energy]
period = 5
'''


class Array(ctypes.Structure):
    _fields_ = [('data', ctypes.c_void_p), ('type', ctypes.c_int32), ('rank', ctypes.c_int32), ('shape', ctypes.c_int64 * 4)]


def call(name, *arguments):
    code = getattr(engine_library, 'plugmc_engine_' + name)(engine, *arguments)
    assert code == 0, (name, code, engine_library.plugmc_engine_error(engine))


def array(name):
    a = Array()
    call('get', name.encode(), ctypes.byref(a))
    kind = [ctypes.c_double, ctypes.c_int32, ctypes.c_int64][a.type]
    return numpy.ctypeslib.as_array(ctypes.cast(a.data, ctypes.POINTER(kind)), a.shape[:a.rank])


engine_library.plugmc_engine_new.restype = ctypes.c_void_p
engine_library.plugmc_engine_error.restype = ctypes.c_char_p
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    with h5py.File('own.h5', 'w') as own:
        own['numbers'] = numpy.arange(1000)
        engine = ctypes.c_void_p(engine_library.plugmc_engine_new())
        call('open_text', b'text', TEXT)
        call('sweep', ctypes.c_int64(40))
        positions = array('positions').copy()
        own['positions'] = positions
        call('checkpoint')
        with h5py.File('run.h5') as run:  # which the engine holds
            assert (run['plugmc/checkpoint/positions'][...].reshape(positions.shape) == positions).all()
        call('replace', b'positions', positions[:, ::-1].copy().ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(positions.size))
        assert (array('positions') == positions[:, ::-1]).all()
        call('sweep', ctypes.c_int64(10))
        engine_library.plugmc_engine_close(engine)
        own['more'] = numpy.ones(5)
    engine = ctypes.c_void_p(engine_library.plugmc_engine_new())
    call('resume', b'run.h5')
    assert (array('positions') == positions).all()
    engine_library.plugmc_engine_close(engine)
    with h5py.File('own.h5') as own:
        assert (own['positions'][...] == positions).all() and own['more'].shape == (5,)
print(h5py.version.hdf5_version)
