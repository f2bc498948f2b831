# SPDX-License-Identifier: Apache-2.0
"""Model of scheduling decisions: plain recomputation, written to be read. See README.md."""
