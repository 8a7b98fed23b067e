/** Longest that a node may take for its operator while the whole cluster starts on one machine. In milliseconds. */
export const STARTING_ANSWER_MS = 120_000;
