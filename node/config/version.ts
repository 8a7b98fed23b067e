/** Version of the node's software, as `/v1/health` tells it. */
export const VERSION = '0.1.0';
