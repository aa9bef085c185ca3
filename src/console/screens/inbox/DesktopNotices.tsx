import { useEffect, useRef, useState } from 'react';
import { Button } from '../../design/Button.tsx';
import { useTexts } from '../../i18n/locale.ts';
import texts from './texts.json' with { type: 'json' };

const canTell = (): boolean => 'Notification' in globalThis;

/** True if the inbox has to be polled while the page is hidden. */
export const mayTell = (): boolean => canTell() && Notification.permission === 'granted';

/** Shows a desktop notification for new tickets while the page is hidden, if the user has allowed it. */
export const DesktopNotices = ({ count }: { count: number }) => {
  const t = useTexts(texts);
  const [permission, setPermission] = useState(canTell() ? Notification.permission : 'denied');
  const before = useRef(count);
  useEffect(() => {
    if (count > before.current && permission === 'granted' && document.visibilityState === 'hidden') {
      new Notification(t('notify.title'), { tag: 'troupe-inbox' });
    }
    before.current = count;
  }, [count, permission, t]);
  if (permission !== 'default') return null;
  return (
    <Button icon="bell" onClick={() => void Notification.requestPermission().then(setPermission)}>
      {t('notify.on')}
    </Button>
  );
};
