import { Menu } from '@mantine/core';
import { IconButton } from '../design/Button.tsx';
import { chooseGuide } from '../getting-started/choice.ts';
import { useTexts } from '../i18n/locale.ts';
import { useGo } from '../navigation/links.tsx';
import shellTexts from './texts.json' with { type: 'json' };

/** The guide, the manual and the shortcuts. */
export const HelpMenu = ({ onKeys }: { onKeys: () => void }) => {
  const t = useTexts(shellTexts);
  const go = useGo();
  const showGuide = (): void => {
    chooseGuide('shown');
    go('/');
  };
  return (
    <Menu>
      <Menu.Target>
        <IconButton icon="help" label={t('help.title')} />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={showGuide}>{t('help.guide')}</Menu.Item>
        {/* The manual consists of documents of the service, not of screens. */}
        <Menu.Item component="a" href="/docs">
          {t('shell.docs')}
        </Menu.Item>
        <Menu.Item onClick={onKeys}>{t('keys.title')}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
};
