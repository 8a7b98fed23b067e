import { Table, textCodec } from '../../store/table.ts';

/** (digest of an e-mail address) → id of the first account that has it, by signing up or from the operator. */
export const signUpTable = new Table('sign-up', textCodec);
