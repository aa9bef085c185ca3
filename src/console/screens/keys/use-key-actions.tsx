import { type ReactNode, useState } from 'react';
import { ActDialog } from '../../access/ActDialog.tsx';
import { anything } from '../../data/guard.ts';
import { pathOf, send } from '../../data/request.ts';
import { toast } from '../../feedback/toasts.ts';
import { useTexts } from '../../i18n/locale.ts';
import type { MenuItem } from '../../list/RowMenu.tsx';
import { useIsScreen } from '../../navigation/screen-paths.ts';
import { accessHref } from '../access-log/access-event.ts';
import { EditKey } from './EditKey.tsx';
import { type ApiKey, changedKeys, isActive } from './key.ts';
import { RotateKey } from './RotateKey.tsx';
import { texts } from './texts.ts';

const RevokeKey = ({ of, onClose }: { of: ApiKey; onClose: () => void }) => {
  const t = useTexts(texts);
  const { id, name, hint } = of;
  const revoke = async (): Promise<void> => {
    await send({ method: 'DELETE', path: pathOf`/v1/keys/${id}` }, anything);
    changedKeys();
    toast('success', t('revoke.done', { name }));
  };
  return (
    <ActDialog
      title={t('revoke.title', { name })}
      confirm={t('revoke.confirm')}
      act={revoke}
      onClose={onClose}
    >
      <p>{t('revoke.text', { hint })}</p>
    </ActDialog>
  );
};

const DIALOGS = { edit: EditKey, rotate: RotateKey, revoke: RevokeKey } as const;

type Opened = { of: ApiKey; what: keyof typeof DIALOGS };

/** The menu of a key, and the dialog of the chosen action. */
export const useKeyActions = (): { menu: (key: ApiKey) => MenuItem[]; dialog: ReactNode } => {
  const t = useTexts(texts);
  const isScreen = useIsScreen();
  const [opened, open] = useState<Opened>();
  const Shown = opened && DIALOGS[opened.what];
  return {
    menu: (of) => {
      const isOff = !isActive(of);
      return [
        { label: t('menu.edit'), icon: 'edit', isOff, act: () => open({ of, what: 'edit' }) },
        { label: t('menu.rotate'), icon: 'refresh', isOff, act: () => open({ of, what: 'rotate' }) },
        ...(isScreen('/access-log')
          ? [{ label: t('menu.access'), icon: 'accessLog', act: accessHref({ credential: of.id }) } as const]
          : []),
        {
          label: t('menu.changes'),
          icon: 'history',
          act: `/audit-log?resource=${encodeURIComponent(`keys/${of.id}`)}`,
        },
        {
          label: t('menu.revoke'),
          icon: 'trash',
          tone: 'danger',
          isOff,
          act: () => open({ of, what: 'revoke' }),
        },
      ];
    },
    dialog: Shown && <Shown of={opened.of} onClose={() => open(undefined)} />,
  };
};
