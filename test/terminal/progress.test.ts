import t from 'tap';
import { bar, createProgress } from '../../src/terminal/progress.ts';

const streamOf = (isTTY: boolean) => {
  const written: string[] = [];
  const write = (text: string): boolean => written.push(text) > 0;
  return { written, stream: { isTTY, columns: 20, write } };
};

t.test('progress is one overwritten line, no wider than the terminal, and removed at the end', async (t) => {
  const { written, stream } = streamOf(true);
  let now = 0;
  const progress = createProgress(stream, () => now);
  progress.show('copying 1 MB of a great many');
  now = 50;
  progress.show('too early');
  now = 100;
  progress.show('copying 2 MB');
  progress.clear();
  progress.clear();
  t.strictSame(written, ['\rcopying 1 MB of a …\u001b[K', '\rcopying 2 MB\u001b[K', '\r\u001b[K']);
});

t.test('writes nothing if the stream is not a terminal', async (t) => {
  const { written, stream } = streamOf(false);
  const progress = createProgress(stream);
  progress.show('copying');
  progress.clear();
  t.strictSame(written, []);
});

t.test('a bar shows the completed share of the work', async (t) => {
  t.equal(bar(1, 4), '█████░░░░░░░░░░░░░░░ 25 %');
  t.match(bar(9, 4), /^█{20} 100 %$/);
  t.match(bar(0, 0), /100 %$/);
});
