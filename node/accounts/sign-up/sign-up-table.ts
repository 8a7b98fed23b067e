import { Table, textCodec } from '../../store/table.ts';

/** (digest of an e-mail address) → id of the account that signed up with it. */
export const signUpTable = new Table('sign-up', textCodec);
