import { Table, textCodec } from '../store/table.ts';

/** (record of erasure) → the same. Its keys are deleted; the files of the store are still to be rid of them. */
export const erasureDueTable = new Table('erasure-due', textCodec);
