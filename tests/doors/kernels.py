"""What tests know of the files of kernels."""

from graftwork.kernels import counts, curvature, gibbs, gibbs_lanes, neighbourhoods, vectors
from graftwork.kernels.bitwords import WORD_BLOCK, common_bits, count_bits, equal_bits
from graftwork.kernels.chains import logs, sums
from graftwork.kernels.chains.logs import NEVER, fill_states, pass_in_logs
from graftwork.kernels.chains.sides import SIDE
from graftwork.kernels.chains.states import infer_chains
from graftwork.kernels.forests import forest_log_partitions, reorder, span
from graftwork.kernels.gains import cell_gains, table_loss
from graftwork.kernels.gibbs import SMALL
from graftwork.kernels.gibbs_lanes import WIDTH, choose, draw, load_codes, store_codes
from graftwork.kernels.information import excess
from graftwork.kernels.joint import joint_hessian
from graftwork.kernels.kmeans import cut_into_clusters
from graftwork.kernels.packing import add_weights, count_bytes, first_rows, pack, recode, unpack
from graftwork.kernels.pair_tiles import find_doubtful
from graftwork.kernels.parts import part_norms
from graftwork.kernels.row_sums import BLOCK, cache_lines, sum_rows
from graftwork.kernels.side_by_side import BLOCKS, TILES, add_products, mix, turn
from graftwork.kernels.tables import add_mean_rows, centre_tables, subtract_mean_slopes
from graftwork.kernels.threads import count_threads, cut_evenly, run_chunks
from graftwork.kernels.vectors import store
