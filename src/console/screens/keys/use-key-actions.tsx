import { type ReactNode, useState } from 'react';
import { useTexts } from '../../i18n/locale.ts';
import type { MenuItem } from '../../list/RowMenu.tsx';
import { useIsScreen } from '../../navigation/screen-paths.ts';
import { accessHref } from '../access-log/access-event.ts';
import { type ApiKey, isActive } from './key.ts';
import { KEY_DIALOGS } from './key-acts.tsx';
import texts from './texts.json' with { type: 'json' };

/** The menu of a key, and the dialog of the chosen action. */
export const useKeyActions = (): { menu: (key: ApiKey) => MenuItem[]; dialog: ReactNode } => {
  const t = useTexts(texts);
  const isScreen = useIsScreen();
  const [opened, open] = useState<{ of: ApiKey; what: keyof typeof KEY_DIALOGS }>();
  const Shown = opened && KEY_DIALOGS[opened.what];
  return {
    menu: (of) => {
      const { id } = of;
      const opens = (what: keyof typeof KEY_DIALOGS) => ({
        label: t(`menu.${what}`),
        isOff: !isActive(of),
        act: () => open({ of, what }),
      });
      const changes = `/audit-log?resource=${encodeURIComponent(`keys/${id}`)}`;
      return [
        { ...opens('edit'), icon: 'edit' },
        { ...opens('rotate'), icon: 'refresh' },
        ...(isScreen('/access-log')
          ? [{ label: t('menu.access'), icon: 'accessLog', act: accessHref({ credential: id }) } as const]
          : []),
        { label: t('menu.changes'), icon: 'history', act: changes },
        { ...opens('revoke'), icon: 'trash', tone: 'danger' },
      ];
    },
    dialog: Shown && <Shown of={opened.of} onClose={() => open(undefined)} />,
  };
};
