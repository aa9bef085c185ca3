import { because, invoked, leaving } from './mcp-transitions.ts';

/** The connected state: the health of requests, and the list of tools, side by side. */
export const ready = {
  type: 'parallel',
  tags: ['connected', 'listed'],
  description: 'Its tools can be called.',
  on: {
    ...leaving,
    LOST: {
      target: 'detaching',
      actions: { type: 'noteLoss', ...because },
      description: 'The child process exited, or the session was lost.',
    },
    RESTART: { target: 'restarting', actions: 'startOver', description: 'A restart was requested.' },
  },
  states: {
    health: {
      description: 'Health of recent requests.',
      initial: 'healthy',
      on: {
        CALL_FAILED: [
          {
            guard: 'isLastCall',
            target: '#mcp-connection.detaching',
            actions: [
              { type: 'noteFailedCall', ...because },
              { type: 'noteLoss', ...because },
            ],
            description: 'The limit of consecutive failed calls is reached.',
          },
          {
            actions: { type: 'noteFailedCall', ...because },
            description: 'A call got no valid response.',
          },
        ],
        CALL_SUCCEEDED: { actions: 'noteCall', description: 'A call got a response.' },
      },
      states: {
        healthy: {
          description: 'The last request of each kind got a response.',
          always: { guard: 'hasFailed', target: 'degraded', description: 'A request failed.' },
        },
        degraded: {
          description: 'Consecutive requests of a kind failed, fewer than the limit.',
          always: {
            guard: 'isWell',
            target: 'healthy',
            description: 'A request of each kind succeeded again.',
          },
        },
      },
    },
    catalogue: {
      description: 'State of the tool list.',
      initial: 'current',
      states: {
        current: {
          description: 'The list is current; the server sends change notifications.',
          always: {
            guard: 'refreshes',
            target: 'scheduled',
            description: 'The refresh interval elapsed.',
          },
          on: {
            TOOLS_CHANGED: { target: 'settling', description: 'The server reported a change.' },
          },
        },
        scheduled: {
          description: 'The list is as last read; it is polled.',
          after: {
            refreshDelay: { target: 'listing', description: 'The refresh interval elapsed.' },
          },
          on: {
            TOOLS_CHANGED: { target: 'settling', description: 'The server reported a change.' },
          },
        },
        settling: {
          description: 'Further change notifications are collected.',
          after: {
            settleDelay: { target: 'listing', description: 'The list is read with all changes so far.' },
          },
        },
        listing: {
          description: 'The list is read page by page.',
          initial: 'asked',
          invoke: {
            ...invoked('list'),
            onDone: [
              {
                guard: 'isOutdated',
                target: 'settling',
                actions: 'noteList',
                description: 'The list changed during the read and is read again.',
              },
              { target: 'current', actions: 'noteList', description: 'The tools are published.' },
            ],
            onError: [
              {
                guard: 'isLastDiscovery',
                target: '#mcp-connection.detaching',
                actions: [
                  { type: 'noteNoList', ...because },
                  { type: 'noteLoss', ...because },
                ],
                description: 'The limit of consecutive failed reads is reached.',
              },
              {
                target: 'current',
                actions: { type: 'noteNoList', ...because },
                description: 'The read failed; the previous list stays valid.',
              },
            ],
          },
          states: {
            asked: {
              description: 'No change was reported since the read started.',
              on: {
                TOOLS_CHANGED: { target: 'outdated', description: 'The list changed during the read.' },
              },
            },
            outdated: { description: 'The list being read may be outdated.' },
          },
        },
      },
    },
  },
} as const;
