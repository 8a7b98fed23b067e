import type { RecordId } from '../../protocol/ids.ts';
import type { PreparedDraft } from '../intake/draft.ts';
import type { Intake } from '../intake/intake.ts';
import type { PaymentStore, StoredPayment } from './payment-store.ts';
import type { PaymentRow, Publication } from './payment-tables.ts';

interface PublisherOptions {
  readonly paymentStore: PaymentStore;
  readonly intake: Pick<Intake, 'recordAll'>;
  /** Where a record of this node stands; undefined where there is none of the id. */
  readonly publicationOf: (id: RecordId) => Promise<Publication | undefined>;
}

/**
 * Makes the records of settled payments: all of a payment in one group, whose write also says that the payment is
 * published. So a payment has its records exactly when it is `published`, whatever stops in between.
 */
export class Publisher {
  readonly #options: PublisherOptions;

  constructor(options: PublisherOptions) {
    this.#options = options;
  }

  /**
   * Resolves to the published row of a settled payment. Anyone who calls it holds the payment's flight. Throws
   * `IntakeError`, `StoreError` and `HeldDamagedError`: then the payment stays settled, and this can be tried again.
   */
  async publish(payment: StoredPayment): Promise<PaymentRow> {
    const { paymentStore, publicationOf } = this.#options;
    const first = await paymentStore.firstPrepared(payment.key);
    // A store that was restored from a copy gets its later records back from the other members: they are not made
    // twice.
    const before = first === undefined ? undefined : await publicationOf(first);
    if (before !== undefined) return paymentStore.publishedBefore(payment, before);
    return this.#record(payment, await paymentStore.preparedOf(payment));
  }

  async #record(payment: StoredPayment, prepared: readonly PreparedDraft[]): Promise<PaymentRow> {
    const { paymentStore, intake } = this.#options;
    let published: PaymentRow | undefined;
    const last = prepared.length - 1;
    const ids = prepared.map(({ id }) => id);
    await intake.recordAll(
      prepared.map((draft, place) => {
        if (place !== last) return draft;
        const inGroup: PreparedDraft['inGroup'] = ({ signedAt, root }) => {
          published = paymentStore.afterPublication(payment, { submittedAt: signedAt, groupRoot: root });
          return paymentStore.publishOperations(payment, published, ids);
        };
        return { ...draft, inGroup };
      }),
    );
    if (published === undefined) throw new RangeError('a payment has no records to publish');
    return published;
  }
}
