import { choice, integer, milliseconds } from '../kinds.ts';
import { setting } from '../setting.ts';

export const mailboxSettings = [
  setting({
    key: 'mailbox.lifecycle',
    env: 'SERVICE_MAILBOX_LIFECYCLE',
    type: choice(['auto', 'manual']),
    default: 'auto',
    doc: 'start recovery and maintenance with the server, or leave it to the embedding program',
  }),
  setting({
    key: 'mailbox.lease_ms',
    env: 'SERVICE_MAILBOX_LEASE_MS',
    type: milliseconds({ min: 1 }),
    default: 30_000,
    doc: 'lease of a dispatch',
  }),
  setting({
    key: 'mailbox.suspended_lease_ms',
    env: 'SERVICE_MAILBOX_SUSPENDED_LEASE_MS',
    type: milliseconds({ min: 1 }),
    default: 600_000,
    doc: 'lease of a run that is suspended in this process',
  }),
  setting({
    key: 'mailbox.lease_renewal_ms',
    env: 'SERVICE_MAILBOX_LEASE_RENEWAL_MS',
    type: milliseconds({ min: 1 }),
    default: 10_000,
    doc: 'how often a lease is renewed; below the lease',
  }),
  setting({
    key: 'mailbox.lease_sweep_interval_ms',
    env: 'SERVICE_MAILBOX_LEASE_SWEEP_INTERVAL_MS',
    type: milliseconds({ min: 1 }),
    default: 30_000,
    doc: 'how often expired leases are searched',
  }),
  setting({
    key: 'mailbox.lease_sweep_batch',
    env: 'SERVICE_MAILBOX_LEASE_SWEEP_BATCH',
    type: integer({ min: 1 }),
    default: 100,
    doc: 'leases reclaimed by one search',
  }),
  setting({
    key: 'mailbox.gc_interval_secs',
    env: 'SERVICE_MAILBOX_GC_INTERVAL_SECS',
    type: integer({ min: 1 }),
    default: 60,
    doc: 'how often ended dispatches are collected',
  }),
  setting({
    key: 'mailbox.gc_retention_secs',
    env: 'SERVICE_MAILBOX_GC_RETENTION_SECS',
    type: integer(),
    default: 86_400,
    doc: 'age at which they are collected',
  }),
  setting({
    key: 'mailbox.max_attempts',
    env: 'SERVICE_MAILBOX_MAX_ATTEMPTS',
    type: integer({ min: 1 }),
    default: 5,
    doc: 'attempts of a dispatch',
  }),
  setting({
    key: 'mailbox.retry_base_ms',
    env: 'SERVICE_MAILBOX_RETRY_BASE_MS',
    type: milliseconds({ min: 1 }),
    default: 250,
    doc: 'delay before the second attempt',
  }),
  setting({
    key: 'mailbox.retry_cap_ms',
    env: 'SERVICE_MAILBOX_RETRY_CAP_MS',
    type: milliseconds({ min: 1 }),
    default: 30_000,
    doc: 'longest delay before an attempt',
  }),
] as const;

export const runSettings = [
  setting({
    key: 'max_concurrent_runs',
    env: 'SERVICE_MAX_CONCURRENT_RUNS',
    type: integer({ min: 1 }),
    default: 2000,
    doc: 'runs that execute at once; what is over it waits in the queue of its thread, in order',
  }),
  setting({
    key: 'foreground_release_wait_ms',
    env: 'SERVICE_FOREGROUND_RELEASE_WAIT_MS',
    type: milliseconds(),
    default: 5000,
    doc: 'a new foreground run waits so long for the old one to let go',
  }),
  setting({
    key: 'foreground_release_poll_ms',
    env: 'SERVICE_FOREGROUND_RELEASE_POLL_MS',
    type: milliseconds({ min: 1 }),
    default: 25,
    doc: 'poll while waiting, where no event tells',
  }),
  setting({
    key: 'foreground_claim_guard_ms',
    env: 'SERVICE_FOREGROUND_CLAIM_GUARD_MS',
    type: milliseconds({ min: 1 }),
    default: 60_000,
    doc: 'time in which no other worker takes a foreground dispatch',
  }),
  setting({
    key: 'max_phase_rounds',
    env: 'SERVICE_MAX_PHASE_ROUNDS',
    type: integer({ min: 1 }),
    default: 16,
    doc: 'rounds of scheduled actions in one phase',
  }),
  setting({
    key: 'event_capture_mode',
    env: 'SERVICE_EVENT_CAPTURE_MODE',
    type: choice(['disabled', 'compacted', 'full_fidelity']),
    default: 'compacted',
    doc: 'which events of a run enter the log of canonical events',
  }),
  setting({
    key: 'event_retention_days',
    env: 'SERVICE_EVENT_RETENTION_DAYS',
    type: integer(),
    default: 0,
    doc: 'days after which events leave the log, except the last of each thread; 0 = never',
  }),
] as const;
