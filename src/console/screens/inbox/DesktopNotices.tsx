import { useEffect, useRef, useState } from 'react';
import { Button } from '../../design/Button.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { texts } from './texts.ts';

const canTell = (): boolean => 'Notification' in globalThis;

/** So the page has to look while nobody sees it. */
export const mayTell = (): boolean => canTell() && Notification.permission === 'granted';

/** Tells of new questions outside of the page, once its user has allowed that to the browser. */
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
