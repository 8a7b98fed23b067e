/** Currencies of chains with EVM addresses, by ticker and by name. Others are compared with nothing. */
const CURRENCY =
  '(?:ETH|ETC|USDT|USDC|DAI|BNB|BSC|ARB|MATIC|POL|Ethereum(?: Classic)?|Ether|Tether|USD Coin|Binance Coin)';
/** What may stand between a currency and its address: the network in brackets, and that it is an address. */
const LABEL = String.raw`(?:\s*\([A-Za-z0-9 -]{1,20}\))?(?:\s+(?:digital currency|wallet|address|wallets|addresses))*`;
const ADDRESS = '0x[0-9a-fA-F]{40}(?![0-9A-Za-z])';
const SERIES = new RegExp(
  String.raw`(?<![0-9A-Za-z])${CURRENCY}${LABEL}\s*[:=\u2013-]?\s*(${ADDRESS}(?:\s*(?:[,;|]|,?\s*and)\s*${ADDRESS})*)`,
  'gu',
);
const EACH = new RegExp(ADDRESS, 'gu');

/**
 * EVM addresses in free text of a list that has no form for them, such as `ETH: 0x…` and `USDT (ERC20) wallet address
 * 0x…, 0x…`. One counts where a currency is named directly before it, or before the series that it stands in: of any
 * other, such as the contract of a token, nobody says that it is a wallet of the listed party.
 */
export function walletAddresses(text: string): readonly string[] {
  return [...text.matchAll(SERIES)].flatMap(([, series = '']) => series.match(EACH) ?? []);
}
