import Type, { type Static } from 'typebox';
import { SignedCheckpointShape } from '../log/checkpoint.ts';
import { Closed } from '../shapes.ts';

/** `GET /v1/log/checkpoints` and `GET /v1/log/checkpoints/:node`. */
export const CheckpointsAnswerShape = Closed({
  success: Type.Literal(true),
  /** In order of node. */
  checkpoints: Type.Array(SignedCheckpointShape, { maxItems: 1024 }),
});
export type CheckpointsAnswer = Static<typeof CheckpointsAnswerShape>;

export const CHECKPOINTS_EXAMPLE = {
  success: true,
  checkpoints: [
    {
      text: '{"federation":"sha256:9f86…","keyId":"sha256:60a1…","node":"eu","root":"sha256:2c26…","size":1204,"type":"checkpoint","v":1,"vouched":{"eu":311,"us":298}}',
      signature: 'mZ3kF1qW8t',
    },
  ],
};
