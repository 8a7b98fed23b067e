import { Gauge, type Registry } from 'prom-client';
import type { LogState, TopicState } from '../../protocol/api/log-state.ts';
import type { Removal } from '../log/removal.ts';

/** Read when metrics are scraped. */
export interface LogMetricSources {
  readonly log: () => LogState;
  readonly topic: () => TopicState;
  /** Whether most members contradict this node's own tree. */
  readonly contradicted: () => boolean;
  /** Where this node stands, if it was removed. */
  readonly removal: () => Removal | null;
}

/** Gauges of the ledger's topic and of the federation's log. */
export function watchLog(registry: Registry, { log, topic, contradicted, removal }: LogMetricSources): void {
  const gauge = (name: string, help: string, read: () => number): void => {
    const made: Gauge = new Gauge({ name, help, registers: [registry], collect: () => made.set(read()) });
  };
  const labelled = (
    name: string,
    help: string,
    label: string,
    read: () => Iterable<readonly [string, number]>,
  ): void => {
    const made: Gauge = new Gauge({
      name,
      help,
      labelNames: [label],
      registers: [registry],
      collect() {
        made.reset();
        for (const [value, number] of read()) made.set({ [label]: value }, number);
      },
    });
  };
  gauge('meridian_log_decisions', "Decisions in the federation's log.", () => log().size);
  gauge('meridian_log_needs_roster', '1 while the log waits for the text of a roster.', () => {
    return log().needsRoster === null ? 0 : 1;
  });
  gauge('meridian_topic_processed_sequence', 'Last message of the topic that was processed.', () => topic().processed);
  gauge('meridian_topic_final_sequence', 'Last message of the topic that is final here.', () => topic().final.sequence);
  gauge('meridian_topic_agreed_sequence', 'Last message of the topic that two own sources agree on.', () => {
    return topic().agreed.sequence;
  });
  labelled('meridian_topic_mirror_sequence', 'How far each mirror was read.', 'mirror', () =>
    topic().mirrors.map(({ host, position }) => [host, position] as const),
  );
  labelled('meridian_topic_contradiction', 'Message at which a source contradicts the others.', 'source', () =>
    topic().contradictions.map(({ who, sequence }) => [who, sequence] as const),
  );
  labelled(
    'meridian_checkpoint_decisions',
    'Decisions that the newest checkpoint of each member covers.',
    'member',
    () => log().checkpoints.map(({ node, size }) => [node, size] as const),
  );
  gauge('meridian_closed_chains', 'Nodes whose chain cannot go on.', () => log().closed.length);
  gauge('meridian_contradicted', '1 while most members have another log than this node, which signs nothing.', () => {
    return contradicted() ? 1 : 0;
  });
  gauge(
    'meridian_removed',
    '1 while this node is removed and has still to be decided or vouched for, 2 once it may be stopped.',
    () => {
      const removed = removal();
      if (removed === null) return 0;
      return removed.isReleased ? 2 : 1;
    },
  );
  gauge('meridian_false_checkpoints', "Members whose checkpoint this node's own tree contradicts.", () => {
    return new Set(log().falseCheckpoints.map(({ node }) => node)).size;
  });
}
