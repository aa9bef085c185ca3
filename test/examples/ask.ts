/** Executes one run over HTTP, and returns its events and text. */
export const ask = async (url: string, agentId: string, content: string, threadId?: string) => {
  const response = await fetch(`${url}/v1/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ agentId, threadId, messages: [{ role: 'user', content }] }),
  });
  const frames = (await response.text()).split('\n').filter((line) => line.startsWith('data: '));
  const events = frames.map((line) => JSON.parse(line.slice('data: '.length)));
  return {
    events,
    text: events.map(({ event_type, delta }) => (event_type === 'text_delta' ? delta : '')).join(''),
  };
};
