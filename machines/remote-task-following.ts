import { type Failed, failed, found, giveUp, invoked, settled } from './remote-task-transitions.ts';

/** The states in which the remote task exists: it is followed by its stream, or polled. */
export const following = {
  description: 'The task exists and is working as far as known.',
  initial: 'recording',
  on: {
    ABANDON: {
      target: '#remote-task.cancelling',
      actions: giveUp('cancelled'),
      description: 'The caller cancelled.',
    },
    EXPIRE: {
      target: '#remote-task.cancelling',
      actions: giveUp('timed_out'),
      description: 'The timeout elapsed.',
    },
  },
  states: {
    recording: {
      description: 'The task id is stored before the task is followed, so that it is found after a crash.',
      invoke: {
        ...invoked('record'),
        onDone: [
          {
            guard: 'isDoubtful',
            target: 'doubting',
            description: 'The task requires input, or did when the message arrived.',
          },
          { guard: 'wasSettled', target: '#remote-task.settled', description: 'Settled at once.' },
          { target: 'streaming', description: 'The task is working.' },
        ],
        onError: {
          target: '#remote-task.cancelling',
          actions: { type: 'fail', params: ({ event }: Failed) => ({ error: event.error }) },
          description: 'The task id could not be stored.',
        },
      },
    },
    doubting: {
      description: 'Some services report a resumed task in its previous state first.',
      after: {
        secondLook: {
          target: 'streaming',
          description: 'The task has resumed, or requires input again.',
        },
      },
    },
    streaming: {
      description: 'The task is followed by its event stream.',
      invoke: {
        ...invoked('subscribe'),
        onDone: [
          settled('The task is terminal or requires input.'),
          {
            guard: { type: 'canUseGet', ...found },
            target: 'streaming',
            reenter: true,
            actions: 'useGet',
            description: 'The service does not accept POST here; GET is tried.',
          },
          {
            guard: { type: 'canResubscribe', ...found },
            target: 'streaming',
            reenter: true,
            actions: 'countResubscription',
            description: 'The stream was interrupted and is opened again.',
          },
          { target: 'polling', description: 'Streaming is not available or not reliable.' },
        ],
        onError: failed('The response is invalid.'),
      },
    },
    polling: {
      description: 'The task is polled with increasing intervals.',
      initial: 'asking',
      states: {
        asking: {
          description: 'One poll request.',
          invoke: {
            ...invoked('poll'),
            onDone: [
              settled('The task is terminal or requires input.'),
              {
                target: 'pausing',
                actions: { type: 'note', ...found },
                description: 'Still working, or the request failed.',
              },
            ],
            onError: failed('The task is missing or not accessible, or the response is invalid.'),
          },
        },
        pausing: {
          description: 'Back-off.',
          after: {
            pollPause: {
              target: 'asking',
              actions: 'lengthenPause',
              description: 'The interval elapsed.',
            },
          },
        },
      },
    },
  },
} as const;
