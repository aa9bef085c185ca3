import { useState } from 'react';
import { KEYS, readKey, writeKey } from '../data/storage.ts';
import { Button } from '../design/Button.tsx';
import { useTexts } from '../i18n/locale.ts';
import texts from './texts.json' with { type: 'json' };

const HIDDEN = 'hidden';

/** Whether the chart is shown next to conversations. This browser remembers it. */
export const useChartShown = (): [boolean, (isShown: boolean) => void] => {
  const [isShown, setShown] = useState(() => readKey(KEYS.threadChart) !== HIDDEN);
  return [
    isShown,
    (to) => {
      writeKey(KEYS.threadChart, to ? null : HIDDEN);
      setShown(to);
    },
  ];
};

export const ChartToggle = (props: { isShown: boolean; onChange: (isShown: boolean) => void }) => {
  const t = useTexts(texts);
  const { isShown, onChange } = props;
  return (
    <Button small icon="statecharts" aria-pressed={isShown} onClick={() => onChange(!isShown)}>
      {t('thread.show')}
    </Button>
  );
};
