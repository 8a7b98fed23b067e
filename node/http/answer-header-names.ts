/** Headers that answers of some routes carry and the document of the API describes. */
export type AnswerHeaderName = 'Content-Disposition' | 'X-Linked-Truncated' | 'X-Proof-Window-Ends-At';
