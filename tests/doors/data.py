"""What tests know of the files of data."""

from graftwork.data import counting
from graftwork.data.atomic import write_lines
from graftwork.data.bins import cuts_of, labels, quantile_cuts
from graftwork.data.chains import (
    NAMED,
    Vocabulary,
    attributes,
    check_weights,
    conll_lines,
    count_columns,
    decode_labels,
    read_conll,
    sequences,
    split_labels,
    stream_conll,
    write_conll,
)
from graftwork.data.chains.template_lines import FUNCTIONS, shape
from graftwork.data.counts import PairCounts, SlotIndex, table_offsets
from graftwork.data.encoded import EncodedRows, prepare
from graftwork.data.encoded_parts import Encoding, prepare_parts
from graftwork.data.engines import Here, Processes, dask
from graftwork.data.engines.dask import DaskEngine, find_client, has_client
from graftwork.data.foreign import labelled
from graftwork.data.missing import MISSING_STATE, complete_rows, missing_cells, missing_last
from graftwork.data.oddities import (
    answer_columns,
    column_remarks,
    items,
    lone_columns,
    missing_codes,
    number_columns,
    order_remarks,
    text_number_columns,
)
from graftwork.data.parts import Parts, RowPart, add_up, join
from graftwork.data.placed import PlacedTable, _same
from graftwork.data.scanning import encode_piece, folder, pieces, unite
from graftwork.data.scores import Ordered, Scores
from graftwork.data.text import guess_separator, has_header, typed
