import Type from 'typebox';
import { StartWaitShape } from '../../protocol/api/start-waits.ts';
import { Closed, NodeIdShape } from '../../protocol/shapes.ts';
import { StoreCopyShape } from '../fsck/backup/copy-store.ts';
import { RestorationsShape } from '../federation/start/restoration-table.ts';

/** What an operator asks about copies of the store, and what is answered. Both ends of the socket read these forms. */
const success = Type.Literal(true);

/** `POST /store-copies`: the store as it is now, into a new folder that the node can write. */
export const CopyStoreShape = Closed({ directory: Type.String({ minLength: 1 }) });
export const CopyStoreAnswerShape = Closed({ success, node: NodeIdShape, copy: StoreCopyShape });

/** `GET /restorations`: what became of copies that this store comes from. */
export const RestorationsAnswerShape = Closed({
  success,
  node: NodeIdShape,
  /** Whether it signs nothing yet, and what it waits for. */
  recovering: Type.Boolean(),
  waits: Type.Array(StartWaitShape),
  restorations: RestorationsShape,
});
