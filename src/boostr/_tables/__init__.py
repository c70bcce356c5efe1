"""Tables of static features, as estimators take them."""
