import Type from 'typebox';
import { Closed } from '../shapes.ts';
import { AccountNodesShape } from './account.ts';
import { MailAddressShape } from './network-addresses.ts';

/** `POST /v1/sign-up`. */
export const SignUpRequestShape = Closed({
  email: MailAddressShape,
  /** Absent: false, and of an account that is there already as it is. */
  compressPayloads: Type.Optional(
    Type.Boolean({ description: 'Payloads are compressed and padded before they are encrypted. Default: false.' }),
  ),
  /** Absent: the node that is asked alone, and of an account that is there already as it is. */
  nodes: Type.Optional(AccountNodesShape),
});

/** The same for an address that has an account and for one that has none. */
export const SignUpAnswerShape = Closed({
  success: Type.Literal(true),
  sent: Type.Literal(true),
  message: Type.String(),
});

export const SIGN_UP_MESSAGE = 'A mail is on its way to the address. It says how to go on.';

export const SIGN_UP_EXAMPLE = {
  request: { email: 'ada@example.org' },
  answer: { success: true, sent: true, message: SIGN_UP_MESSAGE },
} as const;
