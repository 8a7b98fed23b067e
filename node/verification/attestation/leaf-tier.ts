/** Tier of a record that is a leaf in the Merkle forest; a message of its own on the ledger would be tier 0. */
export const LEAF_TIER = 1;
