/** Names the share to the test files of a process. */
export const PORT_SHARE_VARIABLE = 'MERIDIAN_TEST_PORT_SHARE';

/** Processes that run at the same time take their ports of different shares. */
export interface PortShare {
  readonly index: number;
  readonly shares: number;
}

/** Of a file that is run by itself: all ports. */
const WHOLE = '0/1';

/** Of this process. */
export const PORT_SHARE = readPortShare(process.env[PORT_SHARE_VARIABLE] ?? WHOLE);

/** A share as `index/shares`. Throws a RangeError if it is not one. */
export function readPortShare(text: string): PortShare {
  const [index = Number.NaN, shares = Number.NaN] = text.split('/').map(Number);
  if (!/^\d+\/\d+$/.test(text) || index >= shares) throw new RangeError(`${text} is not a share of the ports`);
  return { index, shares };
}

export function portShareText({ index, shares }: PortShare): string {
  return `${index}/${shares}`;
}
