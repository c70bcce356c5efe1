"""From sufficient statistics to an ensemble of trees; private."""
