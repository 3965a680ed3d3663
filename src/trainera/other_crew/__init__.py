"""The runtime of scripts that `bench` measures with strategies of TensorFlow's own.

They are another training than the script's, and nothing here makes them the same: the script is put
under the strategy, as its documentation says, and that is all. What TensorFlow asks for besides,
such as data of another kind, is given for it.
"""

from trainera.other_crew.joining import join_central_storage as join_central_storage
from trainera.other_crew.joining import join_parameter_servers as join_parameter_servers
