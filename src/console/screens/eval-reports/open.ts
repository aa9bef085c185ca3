import { useRef, useState } from 'react';
import { toast } from '../../feedback/toasts.ts';
import { say } from '../../i18n/locale.ts';
import { type Parsed, parseReport } from './parse-report.ts';
import texts from './texts.json' with { type: 'json' };

export type Opened = Parsed & {
  /** Undefined for pasted text. */
  name: string | undefined;
};

const nextTask = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

/** The opened file. Reading does not block the page, and opening another file aborts the previous reading. */
export const useOpenFile = () => {
  const [opened, setOpened] = useState<Opened>();
  const [share, setShare] = useState<number>();
  const attempt = useRef(0);
  const read = async (name: string | undefined, text: () => Promise<string>): Promise<void> => {
    attempt.current += 1;
    const own = attempt.current;
    setShare(0);
    try {
      const parsed = await parseReport(await text(), async (done) => {
        if (own !== attempt.current) throw new Error('another file');
        setShare(done);
        await nextTask();
      });
      if (own === attempt.current) setOpened({ ...parsed, name });
    } catch (error) {
      if (own === attempt.current) {
        toast('error', say(texts, 'failed', { why: error instanceof Error ? error.message : '' }));
      }
    }
    if (own === attempt.current) setShare(undefined);
  };
  return {
    opened,
    share,
    onFile: (file: File) => void read(file.name, () => file.text()),
    onText: (text: string) => {
      if (text.trim() !== '') void read(undefined, async () => text);
    },
    onRemove: () => {
      attempt.current += 1;
      setOpened(undefined);
      setShare(undefined);
    },
  };
};
