import { documented } from '../shapes.ts';
import { TextShape } from './fields.ts';

const OCTET = '(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const IPV4 = `${OCTET}(\\.${OCTET}){3}(/(3[0-2]|[12]?[0-9]))?`;
const WORD = '[0-9a-fA-F]{1,4}';
const WORDS = 8;
/** Words before the `::` and after it: together fewer than eight. */
const SHORTENED = Array.from({ length: WORDS }, (_, before) => {
  const after = WORDS - 1 - before;
  const head = before === 0 ? ':' : `(${WORD}:){${before}}`;
  return after === 0 ? `${head}:` : `${head}(:${WORD}){1,${after}}`;
});
const ENDING = `(${WORD}:){1,${WORDS - 2}}:|::`;
const IPV6 = `((${WORD}:){${WORDS - 1}}${WORD}|${SHORTENED.join('|')}|${ENDING})(/(12[0-8]|1[01][0-9]|[1-9]?[0-9]))?`;

/** An IP address or a CIDR range, as most write them: the document's words for what `AddressList` reads. */
export const ADDRESS_RANGE_PATTERN = `^(${IPV4}|${IPV6})$`;

const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
const LABEL = '[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?';

/** The dot-atom form of RFC 5322 §3.4.1: the document's words for what `isPublicMailAddress` takes. */
const MAIL_ADDRESS_PATTERN = `^(?=.{1,64}@)${ATOM}(\\.${ATOM})*@(${LABEL}\\.)+(?![0-9]+$)${LABEL}$`;
const MAX_MAIL_ADDRESS = 254;

/** The mail address of a person. */
export const MailAddressShape = TextShape(
  3,
  MAX_MAIL_ADDRESS,
  documented({ format: 'email', pattern: MAIL_ADDRESS_PATTERN }),
);
