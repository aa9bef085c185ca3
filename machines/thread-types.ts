/** The requests to a thread, and the events of its machine. */

/** The types of the requests, which the runtime chooses. */
export type ThreadRequests = {
  /** Input that starts, continues or steers a run. */
  input: object;
  /** A decision on a call of one run. */
  decision: object;
  /** An event of a background task of one run. */
  taskEvent: object;
  cancel: object;
  interrupt: object;
  removal: object;
};

export type ThreadEvent<Requests extends ThreadRequests = ThreadRequests> =
  | { type: 'FOREGROUND'; request: Requests['input'] }
  | { type: 'QUEUE'; request: Requests['input'] }
  | { type: 'STEER'; request: Requests['input'] }
  | { type: 'INTERRUPT_THEN_QUEUE'; request: Requests['input'] }
  | { type: 'CONTINUE'; request: Requests['input'] }
  | { type: 'DRIVE'; request: Requests['input'] }
  | { type: 'DECIDE'; request: Requests['decision'] }
  | { type: 'TASK_EVENT'; request: Requests['taskEvent'] }
  | { type: 'CANCEL'; request: Requests['cancel'] }
  | { type: 'INTERRUPT'; request: Requests['interrupt'] }
  | { type: 'WAKE' }
  | { type: 'RUN_ENDED' }
  | { type: 'RUN_PARKED' }
  | { type: 'DELETE'; request: Requests['removal'] };

/** The part of an event that guards and actions receive. */
export type Received<Request> = { request: Request };
