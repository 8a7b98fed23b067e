import { BlockList, isIP, isIPv4 } from 'node:net';

/** Bits of an address, by family. */
const ADDRESS_BITS = { ipv4: 32, ipv6: 128 } as const;
/** An IPv4 caller as a dual-stack socket names it. */
const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
/** All of them, in whatever notation. */
const MAPPED = new BlockList();
MAPPED.addSubnet('::ffff:0:0', 96, 'ipv6');
/** Shorter prefixes reach networks of many owners. In bits. */
const LEAST_PREFIX = { ipv4: 8, ipv6: 16 } as const;
const RANGE = /^([0-9a-fA-F:.]+)(?:\/(0|[1-9]\d{0,2}))?$/;

interface AddressRange {
  readonly address: string;
  readonly bits: number;
  readonly family: keyof typeof ADDRESS_BITS;
}

/** Addresses that a key may be used from: single ones and CIDR ranges, IPv4 and IPv6. */
export class AddressList {
  readonly #ranges: readonly AddressRange[];
  readonly #list = new BlockList();

  /** Throws `RangeError` on an entry that `isAddressRange` refuses. */
  constructor(entries: readonly string[]) {
    this.#ranges = entries.map((entry) => {
      const range = parseRange(entry);
      if (range === undefined) throw new RangeError('no address and no range');
      return range;
    });
    for (const { address, bits, family } of this.#ranges) this.#list.addSubnet(address, bits, family);
  }

  /** Entries that were stored, maybe by an earlier release: one that `isAddressRange` refuses admits nobody. */
  static ofStored(entries: readonly string[]): AddressList {
    return new AddressList(entries.filter(isAddressRange));
  }

  /** Whether a caller's address is among them. False for text that is not an address. */
  admits(address: string): boolean {
    const plain = MAPPED_IPV4.exec(address)?.[1] ?? address;
    return isIP(plain) !== 0 && this.#list.check(plain, familyOf(plain));
  }

  /** Whether every address of the other list is in one range of this one. */
  contains(other: AddressList): boolean {
    return other.#ranges.every((inner) =>
      this.#ranges.some((outer) => {
        if (outer.family !== inner.family || outer.bits > inner.bits) return false;
        const list = new BlockList();
        list.addSubnet(outer.address, outer.bits, outer.family);
        return list.check(inner.address, inner.family);
      }),
    );
  }
}

/** Holds no address. */
export const NO_ADDRESSES = new AddressList([]);

/** Whether a text is an address (`203.0.113.7`, `2001:db8::1`) or a CIDR range (`203.0.113.0/24`). */
export function isAddressRange(text: string): boolean {
  return parseRange(text) !== undefined;
}

/** Whether a range is wider than one owner's network: IPv4 beyond a /8, IPv6 beyond a /16, or with IPv4 in it. */
export function isWideRange(text: string): boolean {
  const range = parseRange(text);
  if (range === undefined) return false;
  const { family, bits } = range;
  return bits < LEAST_PREFIX[family] || (family === 'ipv6' && new AddressList([text]).admits('::ffff:0.0.0.0'));
}

function parseRange(text: string): AddressRange | undefined {
  const [, address = '', bits] = RANGE.exec(text) ?? [];
  // No IPv4 address is written as IPv6: callers are compared, and ranges are bounded, by the plain one.
  if (isIP(address) === 0) return undefined;
  const family = familyOf(address);
  if (family === 'ipv6' && MAPPED.check(address, family)) return undefined;
  const length = bits === undefined ? ADDRESS_BITS[family] : Number(bits);
  return length > ADDRESS_BITS[family] ? undefined : { address, bits: length, family };
}

function familyOf(address: string): keyof typeof ADDRESS_BITS {
  return isIPv4(address) ? 'ipv4' : 'ipv6';
}
